"""Small texts of C whose values are known: gcc 12 (-fwrapv -fsigned-char) printed each list.

What the language leaves undefined is in none of them. 77 stands where a program writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab.hal import LaunchConfig, compile_kernel, launch_kernel
from wia_lab.hal.clike.types import SCALARS


@dataclass(frozen=True)
class Program:
    """The body of a kernel over `o`, run by `threads` threads, and what is in `o` afterwards."""

    element: str
    threads: int
    body: str
    expected: str
    helpers: str = ""


PROGRAMS = {
    "prec": Program(
        "int",
        4,
        """
        o[0]=1+2*3-4/2%3; o[1]=1<<2+1; o[2]=(5&3==3); o[3]=5|2^7&4; o[4]=-7/2; o[5]=-7%3;
        o[6]=7/-2; o[7]=7%-3; o[8]=!5+1; o[9]=~5&0xf; o[10]= 1<2<3; o[11]=3>2>1;
        o[12]=1||0&&0; if(i==3) o[13]= i==0 ? 1 : i==1 ? 2 : 3; o[14]= -5>>1; o[15]= 10-5-2;
        """,
        "5 8 1 7 -3 -1 -3 1 1 10 1 0 1 3 -3 3",
    ),
    "runtime div": Program(
        "int",
        4,
        """
        int a=-7+i, b=i-2; if(b==0) b=3; o[i]=a/b; o[i+4]=a%b; o[i+8]=a>>1; o[i+12]=a*b;
        """,
        "3 6 -1 -4 -1 0 -2 0 -4 -3 -3 -2 14 6 -15 -4",
    ),
    "uwrap": Program(
        "uint",
        4,
        """
        uint a=0u; a=a-1u; o[0]=a; o[1]=a+2; uint b=i; o[2+i]=b-3; o[6+i]=b*4000000000u;
        o[10+i]=(b-3)/2; o[14]=-1; o[15]=(uint)-2>>1;
        """,
        "4294967295 1 4294967293 4294967294 4294967295 0 0 4000000000 3705032704 3410065408 "
        "2147483646 2147483647 2147483647 0 4294967295 2147483647",
    ),
    "mixed sign": Program(
        "int",
        4,
        """
        uint u=1; int s=-1; o[0]= s<u; o[1]= (s<(int)u); o[2]= -1 < 0u; o[3]= s/2u > 5;
        o[4]= (uchar)200+(uchar)100; o[5]=(uchar)300; o[6]=(char)200; o[7]=(short)70000;
        o[8]=(ushort)-1; o[9]=(int)3.99f; o[10]=(int)-3.99f; o[11]=(int)2147483648u;
        if(i==3) o[12]=(uchar)(i-1);
        """,
        "0 1 0 1 300 44 -56 4464 65535 3 -3 -2147483648 2 77 77 77",
    ),
    "narrow store": Program(
        "uchar",
        4,
        """
        uchar c=250; c+=10; o[0]=c; c=c*2; o[1]=c; c++; o[2]=c--; o[3]=c; o[4]=-1; c=0;
        c-=1; o[5]=c; c>>=1; o[6]=c; c<<=3; o[7]=c;
        """,
        "4 8 9 8 255 255 127 248 77 77 77 77 77 77 77 77",
    ),
    "char signed": Program(
        "int",
        4,
        """
        char c=127; c++; o[0]=c; c=-128; c--; o[1]=c; o[2]=c>>1; short s=32767; s+=1;
        o[3]=s; ushort u=65535; u+=2; o[4]=u; o[5]=~u; o[6]=-u; o[7]=~(uchar)0;
        """,
        "-128 127 63 -32768 1 -2 -1 -1 77 77 77 77 77 77 77 77",
    ),
    "loops": Program(
        "int",
        1,
        """
        int s=0; for(int k=0;k<10;k++){ if(k==3) continue; if(k==7) break; s+=k; } o[0]=s;
        int j=0; while(j<5) j++; o[1]=j; do { j--; if(j==2) continue; if(j<-3) break; }
        while(j>-5); o[2]=j; for(;;){ if(++j>4) break; } o[3]=j; int a=0,b=10; for(a=0,b=10;
        a<b; a++, b--) ; o[4]=a*100+b; int n=3; while(n--) o[5+n]=n; for(int p=0;p<3;p++)
        for(int q=0;q<3;q++){ if(q==1) continue; if (p==2) break; o[9+p]=q; }
        """,
        "18 5 -4 5 505 0 1 2 77 2 2 77 77 77 77 77",
    ),
    "shadow": Program(
        "int",
        4,
        """
        int x=1; { int x=2; o[0]=x; { int x=5; o[1]=x; } o[2]=x; } o[3]=x; for(int
        x=0;x<2;x++){ int y=x; o[4+y]=x; } o[6]=x; if(x){int x=9; o[7]=x;} else o[7]=0;
        o[8]=x;
        """,
        "2 5 2 1 0 1 1 9 1 77 77 77 77 77 77 77",
    ),
    "shadow continue": Program(
        "int",
        4,
        """
        int n=0; for(int k=0;k<4;k++){ n++; if(n>50) break; int m=k; { int k=100; if(m==1)
        continue; n+=k-100; } } o[0]=n; int d=0; do { d++; int e=d; { int d=77; if(e==2)
        continue; e+=d; } } while(d<5); o[1]=d;
        """,
        "4 5 77 77 77 77 77 77 77 77 77 77 77 77 77 77",
    ),
    "ternary comma": Program(
        "int",
        4,
        """
        int a=3,b=4; o[0]=a>b?a:b; o[1]=(a++,b++,a+b); o[2]= a==4 ? (b=1) : (b=2); o[3]=b;
        int c=(1,2,3); o[4]=c; o[5]= a>0 && b++ ; o[6]=b; o[7]= a<0 && b++; o[8]=b; o[9]=
        a>0 || b++; o[10]=b; o[11]= (a<0 ? a++ : b++); o[12]=a; o[13]=b; if(i==3) o[14]= i ? i : -1;
        """,
        "4 9 1 1 3 1 2 0 2 1 2 2 4 3 3 77",
    ),
    "compound": Program(
        "int",
        4,
        """
        int x=7; x+=3; o[0]=x; x-=1; o[1]=x; x*=2; o[2]=x; x/=4; o[3]=x; x%=3; o[4]=x;
        x|=12; o[5]=x; x&=6; o[6]=x; x^=5; o[7]=x; x<<=2; o[8]=x; x>>=1; o[9]=x; x=-9; x/=2;
        o[10]=x; x=-9; x%=4; o[11]=x; x*=2.5f; o[12]=x; x/=0.3; o[13]=x; o[14]=(x+=2)*2;
        o[15]=x;
        """,
        "10 9 18 4 1 13 4 1 4 2 -4 -1 -2 -6 -8 -4",
    ),
    "floats": Program(
        "float",
        4,
        """
        float x=7; o[0]=x/2; o[1]=7/2; o[2]=7/2.0f; o[3]=(float)7/2; o[4]=1e-3f+x;
        o[5]=.5f*x; o[6]=1.f; o[7]=x-0.1; o[8]=(int)x/2; o[9]= 16777217; o[10]=0.1f+0.2f;
        o[11]=0.1+0.2; o[12]=1/3.0f; o[13]=-x; o[14]=x>3; o[15]=!x;
        """,
        "3.5 3 3.5 3.5 7.00099993 3.5 1 6.9000001 3 16777216 0.300000012 0.300000012 "
        "0.333333343 -7 1 0",
    ),
    "float div0": Program(
        "float",
        4,
        """
        float z=0.0f*i; o[0]=1.0f/z; o[1]=-1.0f/z; o[2]=z/z!=z/z; o[3]=(z/z)!=0;
        """,
        "inf -inf 1 1 77 77 77 77 77 77 77 77 77 77 77 77",
    ),
    "arrays": Program(
        "int",
        1,
        """
        int a[5]={1,2,3}; int t=0; for(int k=0;k<5;k++) t+=a[k]; o[0]=t; a[i]=i*i;
        o[1+i]=a[i]; int m[2][3]; for(int p=0;p<2;p++) for(int q=0;q<3;q++) m[p][q]=p*10+q;
        o[6]=m[1][2]+m[0][1]; a[0]++; a[a[1]]+=5; o[8]=a[0]; o[9]=a[2];
        """,
        "6 0 77 77 77 77 13 77 1 8 77 77 77 77 77 77",
    ),
    "pointers": Program(
        "int",
        1,
        """
        *o=5; *(o+1)=6; o[2]=*o+*(o+1); *(o+3)=7; (*(o+3))++; ++*o; o[4]=(*o)++;
        """,
        "7 6 11 8 6 77 77 77 77 77 77 77 77 77 77 77",
    ),
    "helpers": Program(
        "int",
        4,
        """
        o[i]=fact(i+1); o[4+i]=gcd(48,36+i); int v=twice(i); o[8+i]=v; fillz(o,12+i,sq(i));
        """,
        "1 2 6 24 12 1 2 3 0 2 4 6 0 1 4 9",
        helpers="""
        int fact(int n){ int r=1; while(n>1){ r*=n; n--; } return r; }
        int gcd(int a,int b){ while(b){ int t=a%b; a=b; b=t; } return a; }
        int twice(int x){ return x+x; }
        int sq(int x);
        int sq(int x){ x*=x; return x; }
        void fillz(__global int *p, int k, int v){ p[k]=v; }
        """,
    ),
    "define": Program(
        "int",
        1,
        """
        o[0]=N*2; o[1]=M; o[2]=SUM*2; o[3]=NEG-1;
        """,
        "8 5 18 -4 77 77 77 77 77 77 77 77 77 77 77 77",
        helpers="""
        #define N 4
        #define M N+1
        #define SUM (N+M)
        #define NEG -3 // comment
        /* multi
         line */
        """,
    ),
    "define late": Program(
        "int",
        1,
        """
        o[0]=A; o[1]=C;
        """,
        "4 3 77 77 77 77 77 77 77 77 77 77 77 77 77 77",
        helpers="""
        #define A B+1
        #define B 3
        #define C 1 + \\
         2
        """,
    ),
    "hexfloat": Program(
        "float",
        1,
        """
        o[0]=0x1.8p1f; o[1]=0x1p-2; o[2]=0xAp0f;
        """,
        "3 0.25 10 77",
    ),
    "unsized": Program(
        "int",
        1,
        """
        int a[]={4,5,6}; o[0]=a[0]+a[2]; const int k=2; { int k=9; o[1]=k; k=10; o[2]=k; }
        o[3]=k;
        """,
        "10 9 10 2",
    ),
    "shadow constant": Program(
        "int",
        1,
        """
        int N=5; N=N+1; o[0]=N; o[1]=two();
        """,
        "6 2 77 77",
        helpers="""
        __constant int N=2;
        int two(void){ return N; }
        """,
    ),
    "longs": Program(
        "long",
        1,
        """
        long x=2147483647; x=x+1; o[0]=x; o[1]=2147483647+1L; o[2]=1L<<40; o[3]=(long)1<<33;
        ulong u=0; u-=1; o[4]=u>>1; o[5]=u/3; o[6]=-7L/2; o[7]=(int)u; o[8]=0xFFFFFFFF;
        o[9]=0x7FFFFFFFFFFFFFFF; o[10]=4294967295; o[11]=u%10; o[12]=010; o[13]=i-5;
        """,
        "2147483648 2147483648 1099511627776 8589934592 9223372036854775807 "
        "6148914691236517205 -3 -1 4294967295 9223372036854775807 4294967295 5 8 -5 77 77",
    ),
    "ulongs": Program(
        "ulong",
        1,
        """
        ulong a=18446744073709551615ul; o[0]=a; o[1]=a*a; o[2]=a/7; o[3]=a>1; o[4]=a+i;
        o[5]=(a>>63)+(a<<63); o[6]=(int)-1; o[7]=(uint)-1; o[8]=a%1000003; o[9]=a & 0xff;
        o[10]=~0; o[11]=~0u;
        """,
        "18446744073709551615 1 2635249153387078802 1 18446744073709551615 "
        "9223372036854775809 18446744073709551615 4294967295 350686 255 "
        "18446744073709551615 4294967295 77 77 77 77",
    ),
    "intmin": Program(
        "int",
        1,
        """
        int m=-2147483647-1; o[0]=m; o[1]=m/2; o[2]=m%10; o[3]=m>>31; o[4]=(uint)m>>31;
        o[5]=m/-2; uint um=m; o[6]=um/3; o[7]=-(m+1);
        """,
        "-2147483648 -1073741824 -8 -1 1 1073741824 715827882 2147483647 77 77 77 77 77 77 77 77",
    ),
    "gid unsigned": Program(
        "int",
        4,
        """
        o[i]= get_global_id(0)-1 > 0; o[4+i]=get_global_id(0)-1; int k=get_global_id(0);
        o[8+i]= k-1>0; o[12+i]=get_global_id(0)*-1;
        """,
        "1 0 1 1 -1 0 1 2 0 0 1 1 0 -1 -2 -3",
    ),
    "boolean": Program(
        "int",
        1,
        """
        bool b=5; o[0]=b; b=0.5f; o[1]=b; o[2]=b+b; bool c=!b; o[3]=c; o[4]=b==1; o[5]=~b;
        o[6]=-b; b+=3; o[7]=b; o[8]=(bool)256; o[9]= b&&c; o[10]=(i>1)+(i>2); o[11]=b<<3;
        """,
        "1 1 2 0 1 -2 -1 1 1 0 0 8 77 77 77 77",
    ),
    "sideeffects": Program(
        "int",
        1,
        """
        int k=0; o[k++]=10; o[k++]=11; o[k]=k; int a[3]={0,0,0}; int j=0; a[j++]+=5;
        a[j++]+=6; o[3]=a[0]; o[4]=a[1]; o[5]=j; o[6]=(j=1)+1; int q=0; if((q=i+3)>2)
        o[7]=q; while((q-=1)>0); o[8]=q; for(int z=0,w=5;z<w;z+=2,w--) o[9]=z*10+w; o[10]=
        j++==1; o[11]=j; o[12]= (j>5 ? 1 : j++) + 100; o[13]=j;
        """,
        "10 11 2 5 6 2 2 3 0 24 1 2 102 3 77 77",
    ),
    "float int mix": Program(
        "int",
        1,
        """
        float f=2.5f; int a=f; o[0]=a; a=f*3; o[1]=a; a+=f; o[2]=a; o[3]=f>2;
        o[4]=(int)(f+0.5f); uint u=3; o[5]=u*f; o[6]= 5/2*f; o[7]= f*5/2; o[8]=i+0.9f; o[9]=
        -f; o[10]=(int)1e9f; o[11]=(uchar)f;
        """,
        "2 7 9 1 3 7 5 6 0 -2 1000000000 2 77 77 77 77",
    ),
    "math": Program(
        "float",
        1,
        """
        float x=i+1; o[i]=sqrt(x); o[4+i]=fabs(-x); o[8]=fmin(1.0f,x); o[9]=fmax(x,NAN_)==x;
        o[10]=fmin(NAN_,2.0f); o[11]=pow(2.0f,3.0f); o[12]=floor(-2.5f); o[13]=ceil(-2.5f);
        o[14]=fmax(-1.0f,2);
        """,
        "1 77 77 77 1 77 77 77 1 1 2 8 -3 -2 2 77",
        helpers="""
        #define NAN_ (0.0f/z0(0))
        float z0(int k){ return k; }
        """,
    ),
    "nested ternary se": Program(
        "int",
        4,
        """
        int a=0; int r = i ? (a=1, a+1) : (a=5, a*2); o[i]=r; o[4+i]=a; int b = (i>1 &&
        (a=7)) ? a : -a; o[8+i]=b;
        """,
        "10 2 2 2 5 1 1 1 -5 -1 7 7 77 77 77 77",
    ),
    "shiftwide": Program(
        "int",
        4,
        """
        int s=i; o[i]=1<<s; o[4+i]=-8>>s; uint u=0x80000000u; o[8+i]=u>>(s+28);
        o[12+i]=(u>>s)>>s;
        """,
        "1 2 4 8 -8 -4 -2 -1 8 4 2 1 -2147483648 536870912 134217728 33554432",
    ),
    "assign types": Program(
        "int",
        1,
        """
        int i2; i2=0; i2=2147483647; i2=i2/2; i2-=1; o[0]=i2; short s; s=5; s=s<<14; o[1]=s;
        uchar b; b=255; b=b+1; o[2]=b; int t; t=1; while(t<1000) t=t*3; o[3]=t; long w; w=1;
        w=w<<40; o[4]=w>>38; uint u; u=0; u--; o[5]=u>>28; float f; f=1; f=f/2; o[6]=f*4;
        """,
        "1073741822 16384 0 2187 4 15 2 77 77 77 77 77 77 77 77 77",
    ),
    "param mod": Program(
        "int",
        4,
        """
        o[i]=g(i,2.9f,300);
        """,
        "-755 -655 -555 -455 77 77 77 77 77 77 77 77 77 77 77 77",
        helpers="""
        int g(int a, int b, uchar c){ a+=b; b=a; c+=1; a=0; a=a-1; return a*1000+b*100+c; }
        """,
    ),
}


@pytest.mark.filterwarnings("ignore::wia_lab.errors.HazardWarning")  # equal values; not races
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_a_compiler_of_c_has_it(name: str) -> None:
    program = PROGRAMS[name]
    source = (
        f"{program.helpers}\n"
        f"__kernel void k(__global {program.element} *o) {{\n"
        f"int i = get_global_id(0);\n{program.body}}}"
    )
    with wia.Context(wia.open_machine("1xH100")[0]) as context:
        dtype = SCALARS[program.element].dtype
        number = float if dtype.kind == "f" else int
        expected = np.array([number(each) for each in program.expected.split()], dtype)
        out = wia.from_numpy(context, np.full(expected.size, 77, dtype))
        launch_kernel(compile_kernel(source), LaunchConfig(1, program.threads), out)
        got = out.numpy()
    assert np.array_equal(got, expected, equal_nan=dtype.kind == "f")
